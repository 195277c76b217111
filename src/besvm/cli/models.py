"""The commands for your own data: train, predict, evaluate, inspect, select, explain, report, prune."""

from dataclasses import replace
from typing import Annotated

import typer

from besvm.cli import options as o
from besvm.cli.program import command, show


@command()
def train(
    data: o.Data,
    out: o.Out,
    given: o.ReadingOptions,
    trained: o.RecipeOptions,
    size: o.Size = "small",
    loss_weight: o.LossWeight = "auto",
    holdout: o.Holdout = 0.2,
    cv: o.Folds = None,
    no_check: o.NoCheck = False,
    checkpoint: o.Checkpoint = None,
    cluster: o.Cluster = None,
    plan: o.Plan = False,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Train a model on your data and save it.

    besvm guesses the kind of data and suitable measures, and tells you what it chose.
    It holds out a fifth of the rows to measure the accuracy, then trains on all rows.

    \b
    besvm train pets/ -o pets.besvm
    besvm train people.csv --label bought -o people.besvm
    besvm train GunPoint_TRAIN.ts -m msm -m twe -o gun.besvm
    besvm train pets/ --size large --plan -o pets.besvm
    """
    from besvm.commands import planning
    from besvm.commands import train as it
    from besvm.commands.training import Check

    reading, check = given.reading(), Check(holdout, cv, not no_check)
    recipe = replace(trained.recipe(loss_weight, size), checkpoint=checkpoint)
    done = it.train(data, out, reading=reading, recipe=recipe, check=check, force=force, plan=plan, cluster=cluster)
    show(as_json, done, planning.shown(done) if plan else it.shown(done))


@command()
def predict(
    model: o.Model,
    data: o.Data,
    out: o.File = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also write the probability of every class.")
    ] = False,
    skip_unreadable: o.SkipUnreadable = False,
    jobs: o.Jobs = None,
    force: o.Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object per line instead of CSV.")] = False,
) -> None:
    """Predict the class of every sample.

    Memory use stays constant, however many samples there are.

    \b
    besvm predict pets.besvm new-photos/ -o pets.csv
    besvm predict pets.besvm cat.jpg --probabilities
    cat new-people.csv | besvm predict people.besvm - --json
    """
    from besvm.commands.predict import predict as it

    it(
        *(model, data, out),
        probabilities=probabilities,
        as_json=as_json,
        skip_unreadable=skip_unreadable,
        jobs=jobs,
        force=force,
    )


@command()
def evaluate(
    model: o.Model,
    data: o.Data,
    label: o.Label = None,
    labels: o.LabelsFile = None,
    skip_unreadable: o.SkipUnreadable = False,
    jobs: o.Jobs = None,
    as_json: o.Json = False,
) -> None:
    """Measure how accurate a model is on samples whose classes are known.

    \b
    besvm evaluate gun.besvm GunPoint_TEST.ts
    besvm evaluate people.besvm new-people.csv --json
    """
    from besvm.commands import evaluate as it

    found = it.evaluate(model, data, label=label, labels=labels, skip_unreadable=skip_unreadable, jobs=jobs)
    show(as_json, found[2], it.shown(*found))


@command()
def inspect(model: o.Model, as_json: o.Json = False) -> None:
    """Show what is in a model file and how the model was trained.

    \b
    besvm inspect pets.besvm
    """
    from besvm.commands import inspect as it

    found = it.inspect(model)
    show(as_json, found, it.shown(found))


@command(interrupted="interrupted; if you used --folder, run the same command again to continue")
def select(
    data: o.Data,
    given: o.ReadingOptions,
    trained: o.RecipeOptions,
    out: o.MaybeOut = None,
    n: Annotated[int, typer.Option("--number", "-n", help="How many measures to choose.")] = 4,
    min_gain: Annotated[
        float | None, typer.Option(help="Stop when the next measure would add less than this to the accuracy.")
    ] = None,
    folder: Annotated[
        str | None, typer.Option(help="Save progress in this folder, so that the same command can resume.")
    ] = None,
    loss_weight: o.LossNumber = "1",
    holdout: o.Holdout = 0.2,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Choose the best measures for your data, one at a time, by accuracy on held-out rows.

    \b
    besvm select GunPoint_TRAIN.ts
    besvm select pets/ -m H8R -m 'H4(2,0)' -m P6 -n 2 -o pets.besvm
    """
    from besvm.commands import select as it
    from besvm.commands.training import Check

    reading = given.reading()
    found = it.select(
        *(data, out),
        reading=reading,
        recipe=trained.recipe(loss_weight),
        check=Check(holdout),
        n_measures=n,
        min_gain=min_gain,
        folder=folder,
        force=force,
    )
    show(as_json, found[1], it.shown(*found, data, reading))


@command()
def explain(
    model: o.Model,
    data: o.Data,
    row: Annotated[
        str, typer.Option(help="The sample's name, or its number counting from 1. -1 is the last one.")
    ] = "1",
    top: Annotated[int, typer.Option(help="How many exemplars to list.", min=1)] = 10,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="Also write a picture (.png, .svg) or a web page (.html).")
    ] = None,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Explain a prediction: which exemplars pulled the sample toward which class, and how they match it.

    \b
    besvm explain pets.besvm photos --row cats/7.png -o why.png
    besvm explain gun.besvm GunPoint_TEST.ts --row 12 --json
    """
    from besvm.commands import explain as it

    show(as_json, *it.explain(model, data, row, top=top, out=out, force=force))


@command()
def report(
    model: o.Model,
    data: o.Data,
    out: Annotated[str, typer.Option("--out", "-o", help="The HTML file to write.")] = "report.html",
    training: Annotated[
        str | None, typer.Option(help="The data that the model was trained on, to show the original exemplars.")
    ] = None,
    label: o.Label = None,
    samples: Annotated[
        int | None, typer.Option(help="How many samples to list. Default: all, up to 10,000.", min=1)
    ] = None,
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    force: o.Force = False,
) -> None:
    """Write a web page about a model: how accurate it is, where it goes wrong, and which exemplars matter.

    It is a single HTML file that works without a network.

    \b
    besvm report pets.besvm new-pets/ -o pets.html
    """
    from besvm.commands.report import report as it

    typer.echo(it(model, data, out=out, training=training, label=label, samples=samples, title=title, force=force))


@command()
def prune(
    model: o.Model,
    data: o.Data,
    n: Annotated[
        str | None, typer.Option("-n", "--exemplars", help="How many exemplars to keep, or a share such as 0.5.")
    ] = None,
    max_loss: Annotated[
        float | None,
        typer.Option(
            help="Instead of -n: keep as few as possible without losing more accuracy than this, such as 0.005."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", help="The new model file. Default: MODEL with the number of exemplars added."),
    ] = None,
    curve: Annotated[
        bool,
        typer.Option("--curve", help="Show the accuracy for several numbers of exemplars. Without -n, do only this."),
    ] = False,
    random: Annotated[
        int, typer.Option(help="For comparison, also try this many random choices at each point of the curve.")
    ] = 0,
    label: o.Label = None,
    force: o.Force = False,
    as_json: o.Json = False,
) -> None:
    """Make a smaller model: keep the most useful exemplars, refit, and show what it costs in accuracy.

    DATA should be the data that the model was trained on, or similar data with classes.

    \b
    besvm prune pets.besvm pets/ --curve
    besvm prune pets.besvm pets/ -n 500 -o small.besvm
    besvm prune people.besvm people.csv --max-loss 0.005
    """
    from besvm.commands import prune as it

    done = it.prune(
        *(model, data), n=n, max_loss=max_loss, out=out, curve=curve, random=random, label=label, force=force
    )
    show(as_json, done, it.shown(done))

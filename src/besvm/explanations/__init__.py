"""Which exemplars decided, and how they match: of one sample, of many, and of the model as a whole."""

from besvm._support.public import publish
from besvm.explanations.carrying import Carrier, Carriers, carriers
from besvm.explanations.contribution import Contribution
from besvm.explanations.exemplars import Exemplar
from besvm.explanations.explanation import Explanation
from besvm.explanations.looks import Look
from besvm.explanations.many import Explanations, explain_many
from besvm.explanations.one import explain
from besvm.explanations.pairs import Pair

__all__ = [
    "Carrier",
    "Carriers",
    "Contribution",
    "Exemplar",
    "Explanation",
    "Explanations",
    "Look",
    "Pair",
    "carriers",
    "explain",
    "explain_many",
]

publish(__name__, __all__)

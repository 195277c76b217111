"""The demonstration counts parameters as the paper does."""

from sklearn.svm import SVC

from besvm.demo import N_TRAIN, C, displaced_digits, rows


def test_parameters_are_those_of_the_paper():
    """On 144 pixels: d for a linear SVM, n_sv (d + 1) for a kernel SVM, B (d + M) for BE-SVM and for Nyström."""
    X, y = displaced_digits()
    flat = X.reshape(len(X), -1)[:N_TRAIN]
    n_sv = len(SVC(C=C, gamma=1 / (144 * float(flat.var()))).fit(flat, y[:N_TRAIN]).support_)
    found = {row.classifier: (row.exemplars, row.parameters) for row in rows()}
    assert found == {
        "linear SVM (LinearSVC)": (0, 144),
        "kernel SVM (SVC), RBF": (n_sv, n_sv * 145),
        "Nystroem + LinearSVC, RBF": (100, 14_500),
        "BE-SVM, RBF": (100, 14_500),
        "BE-SVM, sigmoid": (100, 14_500),
        "BE-SVM, best shift": (100, 14_500),
        "BE-SVM, RBF + best shift": (100, 14_600),
    }

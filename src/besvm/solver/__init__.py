"""Linear SVMs on a matrix seen by blocks: the problem, the solvers, one-vs-rest and one-vs-one, and probabilities."""

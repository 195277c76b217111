"""The paper reproduced: the experiments, one file for every table or figure, what runs them, and their page."""

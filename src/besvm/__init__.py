"""Large-margin classification with any similarity measure, positive definite or not."""

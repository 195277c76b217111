"""What stands between raw similarities and the linear SVM: mean norm, z-scores, Nyström, and fixes of a spectrum."""

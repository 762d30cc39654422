"""What classifiers share, on every kind of data: labels as integers, and from scores to labels and probabilities.

labels                  labels as integers 0…K−1, in memory
class_labels            the same for y on a device or read in blocks; priors
linear_classifier       from linear scores to labels and probabilities
highest_plane           which of some planes is the highest at each row
plane_scores            the scores of four rows, in vector registers
highest_sparse_plane    the same at rows of a CSR matrix
posterior               from log p(x, c) to labels and probabilities
"""

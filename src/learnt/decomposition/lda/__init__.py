"""Latent Dirichlet allocation:  each document a mixture of topics, each topic a distribution of words.

_estimator    the class LatentDirichletAllocation    _bound      the evidence lower bound and its parts
_documents    counts by document and by word         _kernels    the compiled loops
_expectation  shares of the topics in documents, and what these add to the topics
"""

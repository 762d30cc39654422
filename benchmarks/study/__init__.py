"""How good the model of `learnt study` is, on tables it was not tuned on, against one-line alternatives."""

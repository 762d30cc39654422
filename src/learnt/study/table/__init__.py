"""From a file to a learning problem: steps 1 and 2.

_read      a table from what was named       _source    a file, a part of one, standard input; packed or not
_text      CSV and its like, and which line is broken where one is
_json      JSON        _database  SQLite       _sheets    spreadsheets
_header    whether the first line of a text table holds names
_frames    data frames of every library in and out
_columns   types that cannot be learnt from, moments in time, fingerprints
_problem   the target, the columns that are used, and those set aside
_misread   cells that were read otherwise than they are written
_labels    the target of rows that a model is judged on
_folds     folds of shuffled rows, each class in proportion
_seal      the test set, the folds of the other rows, the ledger of openings
"""

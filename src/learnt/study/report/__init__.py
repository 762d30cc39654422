"""The report: step 7.

_words    every sentence, from the numbers of study.json
_report   the page with its charts (templates/report.html)
"""

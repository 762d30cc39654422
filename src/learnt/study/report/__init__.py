"""The report: step 7.

_words    every sentence, from the numbers of study.json
_report   the page with its charts (templates/report.html)
_sections the further sections of the page (templates/sections)
_card     the model card
_markdown the same as a Markdown document
"""

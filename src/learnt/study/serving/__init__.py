"""A saved model behind a small HTTP server: a page for people, JSON and CSV for programs.

_schema    what the model takes and gives, as plain data
_openapi   the same as an OpenAPI description, and a page of it
_bodies    rows from the body of a request, JSON or CSV
_service   a request becomes an answer: no sockets here
_framing   where a request ends: its head, the length of its body
_link      a connection that is read and written by a deadline
_http      the server: connections, sizes, time limits
"""

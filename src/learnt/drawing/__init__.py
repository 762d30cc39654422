"""Elements of pictures, for the charts of `plots` and the trees of `tree`.

svg    Elements, scales and ticks: the few pieces of SVG that every chart is made of
frame  A plotting area with two axes, and the marks that are drawn in it
"""

__all__: list[str] = []  # used by other rooms, not by users

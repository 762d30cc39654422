r"""
From a table to a judged model: a study with a budget
=====================================================

One call reads a table, sets a test set aside, races models inside a time budget, chooses one by its cross-validated
loss and judges it once. This is what ``learnt study`` does on the command line, as an object.
"""

# %%
# The table that ships with `learnt`: 2,000 food deliveries, some of them late. Eight seconds are few: a study for keeps
# has a minute or more, and goes on where a shorter one ended. Models that the budget leaves no time for are listed as
# skipped.

import matplotlib.pyplot as plt

import learnt

study = learnt.study(learnt.study.example_path(), target="late", budget="8s")
print(*str(study).splitlines()[:3], sep="\n")

# %%
# The leaderboard is a data frame: the loss of every model over the folds with an interval, the seconds of a fit, and
# the estimator as it is written in Python.

board = study.leaderboard
ran = board.drop_nulls("log_loss")
print(f"{len(ran)} of {len(board)} models had their turn")
print(ran.select("model", "log_loss", "low", "high").head(5))

# %%
# The race as a picture, with the best of each family: the model that was chosen in orange, and what it was chosen from.
# The constant ignores all columns.

shown = ran.unique("family", keep="first", maintain_order=True)
figure, ax = plt.subplots(figsize=(8, 0.8 + 0.25 * len(shown)), layout="constrained")
for place, one in enumerate(shown.iter_rows(named=True)):
    colour = "#d55e00" if one["state"] == "chosen" else "#0072b2"
    ax.plot([one["low"], one["high"]], [place, place], color=colour, linewidth=1.5)
    ax.plot(one["log_loss"], place, "o", color=colour)
ax.set_yticks(range(len(shown)), shown["family"])
ax.set(xlabel="cross-validated log loss, with its interval", ylim=(len(shown) - 0.4, -0.6))
plt.show()

# %%
# The distance to the constant is what the columns say about lateness. An interval says how far the loss of one model
# may be off; all models have the same rows, so two of them can be told apart although their intervals overlap. The
# study takes the lowest loss, or with ``prefer="simple"`` the simplest model within a standard error of it; at the end
# of a short budget it takes the best that there is still time to fit. ``study.report.save("report.html")`` writes all
# of it down, and ``study.save("late.learnt")`` keeps the model.

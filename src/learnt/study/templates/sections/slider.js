  // The threshold slider: rows of (threshold, tp, fp, fn, tn); without it the table below says the same.
  var slider = document.getElementById("slider");
  if (slider) {
    var rows = JSON.parse(slider.dataset.rows), cut = document.getElementById("cut");
    var alarm = document.getElementById("cost-fp"), miss = document.getElementById("cost-fn");
    var inUse = document.getElementById("in-use"), total = rows[0][1] + rows[0][2] + rows[0][3] + rows[0][4];
    var share = function (v) { return isFinite(v) ? (100 * v).toFixed(1) + "%" : "–"; };
    var price = function (row) { return (Number(alarm.value) || 0) * row[2] + (Number(miss.value) || 0) * row[3]; };
    var write = function (name, text) { slider.querySelector('[data-is="' + name + '"]').textContent = text; };
    var show = function () {
      var row = rows[Number(cut.value)], tp = row[1], fp = row[2], fn = row[3], tn = row[4];
      ["tp", "fp", "fn", "tn"].forEach(function (name, k) { write(name, row[k + 1].toLocaleString("en-US")); });
      var f1 = tp ? 2 * tp / (2 * tp + fp + fn) : 0;
      write("precision", share(tp / (tp + fp)));
      write("recall", share(tp / (tp + fn)));
      write("f1", f1.toFixed(3));
      write("accuracy", share((tp + tn) / total));
      write("cost", String(Number((price(row) / total).toPrecision(3))));
      var now = Number(cut.value) === Number(inUse.dataset.at) ? ", the threshold in use" : "";
      document.getElementById("cut-said").textContent = share(row[0]);
      document.getElementById("cut-now").textContent = now;
      cut.setAttribute("aria-valuetext", share(row[0]) + now + ": recall " + share(tp / (tp + fn)) + ", precision " + share(tp / (tp + fp)));
    };
    var go = function (k) { cut.value = k; show(); };
    [cut, alarm, miss].forEach(function (input) { input.addEventListener("input", show); });
    inUse.addEventListener("click", function () { go(inUse.dataset.at); });
    document.getElementById("cheapest").addEventListener("click", function () {
      var best = 0;
      rows.forEach(function (row, k) { if (price(row) < price(rows[best])) best = k; });
      go(best);
    });
    slider.hidden = false;
    go(inUse.dataset.at);  // browsers remember where a slider stood
  }
  // Tables wider than the page: a word that there is more, and a way there by keyboard.
  var scrolls = document.querySelectorAll(".scroll");
  var measure = function () {
    scrolls.forEach(function (box) {
      var wider = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("wider", wider);
      if (wider) {
        box.tabIndex = 0;
        box.setAttribute("role", "region");
        box.setAttribute("aria-label", "A wide table: scroll sideways for more columns");
      } else ["tabindex", "role", "aria-label"].forEach(function (name) { box.removeAttribute(name); });
    });
  };
  addEventListener("resize", measure);
  document.querySelectorAll("details").forEach(function (d) { d.addEventListener("toggle", measure); });
  measure();

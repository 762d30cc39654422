# Trees of R's rpart on its own example data, with their surrogate splits: Rscript make.R writes the files beside it.
# Made with Debian's r-cran-rpart 4.1.19. cp = -1 keeps every split that minsplit and minbucket allow.
library(rpart)

write_tree <- function(name, formula, data, method) {
  fit <- rpart(formula, data = data, method = method,
               control = rpart.control(cp = -1, xval = 0, maxcompete = 0, minsplit = 20, minbucket = 7))
  write.csv(data[all.vars(formula)], paste0(name, ".csv"), row.names = FALSE)
  levels <- attr(fit, "xlevels")
  frame <- fit$frame
  out <- file(paste0(name, ".txt"), "w")
  row <- 0
  say <- function(k) {
    split <- fit$splits[k, ]
    var <- rownames(fit$splits)[k]
    ncat <- split["ncat"]
    if (abs(ncat) == 1) {
      sprintf("%s %s %.10g %.10g %.10g", var, ifelse(ncat == -1, "<", ">="), split["index"], split["improve"], split["adj"])
    } else {
      goes <- fit$csplit[split["index"], seq_len(ncat)]
      sprintf("%s = %s %.10g %.10g", var, paste(c("L", "-", "R")[goes], collapse = ""), split["improve"], split["adj"])
    }
  }
  for (i in seq_len(nrow(frame))) {
    cat(sprintf("node %s n %d\n", rownames(frame)[i], frame$n[i]), file = out)
    if (frame$var[i] != "<leaf>") {
      row <- row + 1
      cat(paste0("split ", say(row), "\n"), file = out)
      row <- row + frame$ncompete[i]
      for (s in seq_len(frame$nsurrogate[i])) {
        row <- row + 1
        cat(paste0("surrogate ", say(row), "\n"), file = out)
      }
    }
  }
  cat(paste("where", paste(fit$where, collapse = " "), "\n"), file = out)
  close(out)
}

s <- stagec
s$progstat <- factor(s$pgstat, levels = 0:1, labels = c("No", "Prog"))
write_tree("stagec", progstat ~ age + eet + g2 + grade + gleason + ploidy, s, "class")
write_tree("kyphosis", Kyphosis ~ Age + Number + Start, kyphosis, "class")
write_tree("car", Mileage ~ Price + Country + Reliability + Type + Weight + HP, car.test.frame, "anova")

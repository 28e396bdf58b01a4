# error 5:10 there is no event "report.eror". Did you mean "report.error"?

notify "ops" {
  type = "acme/pager:1"
  on   = ["report.ok", "report.eror"]
}

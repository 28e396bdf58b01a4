# error 9:20 known

resource "web" {
  type = "acme/web:1"
}
notify "ops" {
  type   = "acme/pager:1"
  on     = ["report.ok"]
  config = { url = resource.web.state.url }
}

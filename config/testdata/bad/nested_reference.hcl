# error 5:38 no such resource

resource "a" {
  type   = "x"
  config = { ids = [for x in ["b"] : resource.nosuch.state.id] }
}

# error 6:5 into the config

resource "a" {
  type = "x"
  lifecycle {
    replace_triggered_by = [resource.b]
  }
}
resource "b" {
  type = "x"
}

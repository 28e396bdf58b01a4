resource "a" {
  type = "x"
  lifecycle {
    prevent_destroy = "maybe"
  }
}
# error 4:23 Wrong type

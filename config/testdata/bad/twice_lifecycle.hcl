resource "a" {
  type = "x"
  lifecycle {
  }
  lifecycle {
  }
}
# error 5:3 Declared twice

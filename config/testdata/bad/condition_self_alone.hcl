resource "a" {
  type = "acme/file:1"
  lifecycle {
    postcondition {
      condition     = self
      error_message = "x"
    }
  }
}
# error 5:23 Wrong type

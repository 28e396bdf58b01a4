resource "a" {
  type = "acme/file:1"
  lifecycle {
    precondition {
      condition     = 5
      error_message = "x"
    }
    postcondition {
      condition     = true
      error_message = ["x"]
    }
  }
}
# error 5:23 Wrong type
# error 10:23 Wrong type

resource "a" {
  type = "acme/file:1"
  lifecycle {
    precondition {
      condition     = null
      error_message = "x"
    }
  }
}
# error 5:23 Invalid condition

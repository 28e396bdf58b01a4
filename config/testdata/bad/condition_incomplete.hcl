resource "a" {
  type = "acme/file:1"
  lifecycle {
    precondition {
      error_message = "x"
    }
    postcondition {
      condition = true
      message   = "x"
    }
  }
}
# error 4:18 Missing required argument
# error 7:19 Missing required argument
# error 9:7 Unsupported argument

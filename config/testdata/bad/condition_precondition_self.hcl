resource "a" {
  type = "acme/file:1"
  lifecycle {
    precondition {
      condition     = self.state.ok
      error_message = "x"
    }
    postcondition {
      condition     = self.stat.ok
      error_message = "x"
    }
  }
}
# error 5:23 No self here
# error 9:23 Unknown attribute

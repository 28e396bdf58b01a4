output "o" {
  value = 1
  precondition {
    condition     = self.state.x
    error_message = "x"
  }
}
# error 4:21 No self here

resource "a" {
  type = "x"
  timeouts {
    state = "5 minutes"
    action = "-1s"
  }
}
# error 4:13 Invalid state
# error 5:14 Invalid action

resource "a" {
  type = "acme/file:1"
  retry {
    attempts = 0
    delay    = "0s"
  }
}
# error 4:16 Invalid attempts
# error 5:16 Invalid delay

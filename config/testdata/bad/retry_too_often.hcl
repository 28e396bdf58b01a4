resource "a" {
  type = "acme/file:1"
  retry {
    attempts = 21
    delay    = "6m"
  }
}
# error 4:16 Invalid attempts
# error 5:16 Invalid delay

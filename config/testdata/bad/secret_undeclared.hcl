# error 4:25
resource "a" {
  type   = "acme/x:1"
  config = { password = secret.bd.value }
}

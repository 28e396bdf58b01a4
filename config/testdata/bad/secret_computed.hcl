# error 6:38
# error 7:57
secret "db" { type = "acme/vault:1" }
resource "a" {
  type   = "acme/x:1"
  config = { password = base64encode(secret.db.value),
  size = 1, list = [for x in [1] : x], key = [for k in [secret.db.value] : k] }
}

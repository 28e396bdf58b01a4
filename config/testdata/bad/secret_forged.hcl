# error 5:25
secret "db" { type = "acme/vault:1" }
resource "a" {
  type   = "acme/x:1"
  config = { password = "⟪secret.db.value⟫" }
}

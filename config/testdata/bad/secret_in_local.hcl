# error 4:16
secret "db" { type = "acme/vault:1" }
locals {
  login = "x:${secret.db.value}"
}

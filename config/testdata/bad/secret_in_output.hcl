# error 4:11
secret "db" { type = "acme/vault:1" }
output "a" {
  value = secret.db.value
}

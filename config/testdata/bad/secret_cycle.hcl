# error 11:21 secret.a -> secret.b -> secret.a
# error 12:21 secret.b -> secret.a -> secret.b
type "first" {
  image = "acme/vault:1"
  env   = { TOKEN = "t-${secret.b.value}" }
}
type "second" {
  image = "acme/vault:1"
  env   = { TOKEN = secret.a.value }
}
secret "a" { type = type.first }
secret "b" { type = type.second }

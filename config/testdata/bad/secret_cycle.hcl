# error 10:10 secret.a -> secret.b -> secret.a
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

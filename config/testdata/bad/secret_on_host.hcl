# error 9:22
host "web" {
  address = "web"
}
type "vault" {
  image = "acme/vault:1"
  host  = host.web
}
secret "db" { type = type.vault }

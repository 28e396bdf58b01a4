host "web" {
  for_each = { a = "10.0.0.5" }
  address  = each.value
}
host "db" { address = "db.example" }
resource "a" {
  type   = "acme/file:1"
  config = { a = host.wep, b = host.web.address, c = host.db["x"], d = host.db.adress, e = host.db.facts.so }
}
resource "b" {
  for_each = host.db.facts.disks
  type     = "acme/file:1"
}
# error 8:18 Unknown name
# error 8:32 One of several
# error 8:54 No instances
# error 8:72 Unknown attribute
# error 8:92 Unknown attribute
# error 11:14 Unknown attribute

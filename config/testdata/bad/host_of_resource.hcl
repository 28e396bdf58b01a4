host "web" {
  for_each = { a = "10.0.0.5" }
  address  = each.value
}
host "db" { address = "db.example" }
resource "vm" { type = "acme/vm:1" }
locals {
  chosen = host.web[resource.vm.state.key]
}
resource "all" {
  type = "x"
  host = host.web
}
resource "text" {
  type = "x"
  host = "web"
}
resource "object" {
  type = "x"
  host = { name = "gone" }
}
resource "key" {
  type = "x"
  host = host.web["b"]
}
resource "late" {
  type = "x"
  host = local.chosen
}
resource "by_facts" {
  type = "x"
  host = host.db.facts.os == "debian" ? host.db : host.web["a"]
}
type "there" {
  image           = "acme/x:1"
  host            = host.db
  mount_workspace = true
}
type "here" {
  image           = "acme/x:1"
  mount_workspace = true
}
resource "workspace" {
  type = type.here
  host = host.db
}
type "git" {
  image = "acme/git:1"
  host  = host.db
}
artifact "site" { type = type.git }
# error 12:10 One of several
# error 16:10 Not a host
# error 20:10 Not a host
# error 24:18 No such instance
# error 28:10 Known too late
# error 32:10 Known too late
# error 37:21 No working directory there
# error 45:10 No working directory there
# error 51:26 An artifact on another machine

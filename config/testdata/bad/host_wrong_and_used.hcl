host "web" {
  for_each = { a = "10.0.0.5" }
  address  = each.value
  host_key = file("nowhere.pub")
}
resource "motd" {
  for_each = { a = 1 }
  type     = "acme/file:1"
  host     = host.web[each.key]
}
# error 4:20 Invalid function argument

moved {
  from = web
  to   = "web"
}
moved {
  from = resource.web.state
  to   = upper("x")
}
moved {
  from = resource
  to   = module.web.resource
}
# error 2:10 Not an address
# error 3:10 Not an address
# error 6:10 Not an address
# error 7:10 Not an address
# error 10:10 Not an address
# error 11:10 Not an address

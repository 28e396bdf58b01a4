moved {
  from = resource.a
  to   = module.a
}
# error 3:10 Addresses of different kinds

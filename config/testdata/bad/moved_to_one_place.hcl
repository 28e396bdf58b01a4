moved {
  from = resource.a
  to   = resource.c
}
moved {
  from = resource.b
  to   = resource.c
}
# error 7:10 Moved to one address

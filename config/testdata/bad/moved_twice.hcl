moved {
  from = resource.a
  to   = resource.b
}
moved {
  from = resource.a
  to   = resource.c
}
# error 6:10 Moved twice

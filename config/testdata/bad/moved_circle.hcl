moved {
  from = resource.a
  to   = resource.b
}
moved {
  from = resource.b
  to   = resource.c
}
moved {
  from = resource.c
  to   = resource.a
}
# error 2:10 Cycle of moved blocks

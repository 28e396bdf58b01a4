moved {
  from = resource.a
  to   = resource.a
}
# error 3:10 Moved to itself

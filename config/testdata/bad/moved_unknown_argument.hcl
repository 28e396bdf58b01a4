moved {
  form = resource.a
  from = resource.a
  to   = resource.b
}
# error 2:3 Unsupported argument

moved {
  from = resource.a
}
# error 1:7 Missing required argument

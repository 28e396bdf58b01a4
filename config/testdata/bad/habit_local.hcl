# error 3:1 locals

local "x" {
  a = 1
}

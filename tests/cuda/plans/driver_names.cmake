# Writes NAME(<function>) for every function of the driver's stub STUB, by NM, to NAMES. Those that fake_driver.c defines
# itself are left out.
execute_process(COMMAND ${NM} -D --defined-only ${STUB} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/fake_driver.c own REGEX "^(TAKES|DOES)\\(")
string(REGEX MATCHALL "[TW] cu[A-Za-z0-9_]+" symbols "${symbols}")
set(lines "")
foreach(symbol IN LISTS symbols)
  string(SUBSTRING ${symbol} 2 -1 name)
  if(NOT "${own}" MATCHES "\\(${name}\\)")
    string(APPEND lines "NAME(${name})\n")
  endif()
endforeach()
file(WRITE ${NAMES} "${lines}")

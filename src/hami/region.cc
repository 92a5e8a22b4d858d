#include "hami/region.h"
namespace rollcall::hami {}
